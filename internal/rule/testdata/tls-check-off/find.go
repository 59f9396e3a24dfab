package a

var c = &tls.Config{InsecureSkipVerify: true} //~ major
var d = &tls.Config{InsecureSkipVerify: true} // TODO //~ major

func client() (*http.Client, error) {
	if err := loadCertificates(); err != nil {
		return nil, err
	}
	config := &tls.Config{InsecureSkipVerify: true} //~ major
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config}}, nil
}
