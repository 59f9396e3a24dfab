package a

import "os"

const awsKey = "AKIA¦IOSFODNN7EXAMPLE"

var dbPassword = os.Getenv("DB_PASSWORD_V2")

const tokenHeader = "X-Auth-Token-2"

var apiKey = "<your key 1234>"

var secret = "changeme123"

const dsn = "postgres://app:secret@localhost:5432/pay"

const pemStart = "-----BEGIN PRIVATE KEY-----"
const secretAccessKey = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
