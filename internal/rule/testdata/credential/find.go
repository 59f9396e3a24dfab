package a

const awsKey = "AKIA¦Q3EGRXZJ5T7MUN2K" //~ blocker

var dbPassword = "wq7!Lm2zRt" //~ major

const dsn = "postgres://app:Zk83hdQw@db.internal.net/pay" //~ major

var charge = "sk_¦test_4eC39HqLyjWDarjtT1zdp7dc" //~ major
