package a

var c = &tls.Config{InsecureSkipVerify: true} //~ major
var d = &tls.Config{InsecureSkipVerify: true} // TODO //~ major
