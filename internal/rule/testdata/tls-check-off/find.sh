curl -k https://example.com #~ major
curl -fsSLk https://example.com #~ major
git -c http.sslVerify=false clone "$url" #~ major
