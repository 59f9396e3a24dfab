curl -fsSL http://example.com/i.json | jq .
curl -fsSLo i.sh https://example.com/i.sh
# curl http://example.com/i.sh | sh
curl http://example.com | shasum
echo "::: e.g. curl -L http://example.com/i.sh | bash /dev/stdin"
echo -e "
   Reinstall at any time: ${WHITE}curl -sSL http://example.com/i.sh | bash${OFF}"
curl --proto '=https' -sSf https://sh.rustup.rs | sh -s -- -y -k
RUN curl -sSL "https://example.com/$VERSION/i.sh" | sh
