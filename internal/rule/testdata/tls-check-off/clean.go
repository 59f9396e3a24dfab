package a

// InsecureSkipVerify: true would be wrong.
var c = &tls.Config{InsecureSkipVerify: insecure}

var help = "InsecureSkipVerify: true"
