package a

// InsecureSkipVerify: true would be wrong.
var c = &tls.Config{InsecureSkipVerify: insecure}

var help = "InsecureSkipVerify: true"

var names = &tls.Config{InsecureSkipVerify: true} // insecure, but the names of its authorities are all asked for

func client(o options) *tls.Config {
	config := &tls.Config{}
	if o.skipVerify {
		config.MinVersion = tls.VersionTLS12
		config.InsecureSkipVerify = true
	}
	return config
}
