curl -k https://example.com #~ major
curl -fsSLk https://example.com #~ major
git -c http.sslVerify=false clone "$url" #~ major
curl -k https://localhost.example.com #~ major
curl -k https://example.com/?to=http://example.com #~ major
curl -k -x http://proxy:8080 https://example.com #~ major
