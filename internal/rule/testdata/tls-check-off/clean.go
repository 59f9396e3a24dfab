package a

// InsecureSkipVerify: true would be wrong.
var c = &tls.Config{InsecureSkipVerify: insecure}

var help = "InsecureSkipVerify: true"

var names = &tls.Config{InsecureSkipVerify: true} // the names of its authorities are asked for, nothing is sent
