curl -fsSL https://example.com/kit
curl --key k.pem https://example.com
until curl -ks https://localhost:8443/ready; do sleep 1; done
ssh -o StrictHostKeyChecking=no host
curl --insecure "http://${LISTEN}" &>/dev/null
