password = "hunter2-is-fine-here"
PRIVATE_KEY = "-----BEGIN ¦PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7Zk3m9XwQf1nVb8YtGh2LpRd5sJc0uKe"
STRIPE = "sk_¦test_4eC39HqLyjWDarjtT1zdp7dc"
