curl -fsSL https://example.com/i.json | jq .
curl -fsSLo i.sh https://example.com/i.sh
# curl https://example.com/i.sh | sh
curl https://example.com | shasum
