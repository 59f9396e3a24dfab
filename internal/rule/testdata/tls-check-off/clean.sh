curl -fsSL https://example.com/kit
curl --key k.pem https://example.com
