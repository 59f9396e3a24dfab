package a

var c = &tls.Config{InsecureSkipVerify: true} //~ major
