KEY = "AKIA¦Q3EGRXZJ5T7MUN2K" #~ blocker
password = "hunter2-is-fine-here" #~ nit
