package a

// InsecureSkipVerify: true would be wrong.
var c = &tls.Config{InsecureSkipVerify: insecure}

var help = "InsecureSkipVerify: true"

var names = &tls.Config{InsecureSkipVerify: true} // insecure, but the names of its authorities are all that is asked for
