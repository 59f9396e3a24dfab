curl -fsSL https://example.com/i.json | jq .
curl -fsSLo i.sh https://example.com/i.sh
# curl https://example.com/i.sh | sh
curl https://example.com | shasum
echo "::: e.g. curl -L https://example.com/i.sh | bash /dev/stdin"
echo -e "
   Reinstall at any time: ${WHITE}curl -sSL https://example.com/i.sh | bash${OFF}"
curl --proto '=https' -sSf https://sh.rustup.rs | sh -s -- -y
