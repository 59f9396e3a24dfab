os.system("ls " + path) #~ major
subprocess.run(f"ls {path}", shell=True) #~ major
cmd = "ls %s" % path
os.popen(cmd) #~ major
