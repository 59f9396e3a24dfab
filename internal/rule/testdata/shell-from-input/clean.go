package a

func f(dir string) {
	exec.Command("ls", dir)
	exec.Command("sh", "-c", "ls | wc -l")
	exec.Command("sh", "-c", script)
	exec.Command("sh", "-c", fmt.Sprintf("ls %q", dir))
}

func g() {
	legacy := "/data/app"
	exec.Command("bash", "-c", fmt.Sprintf("ln -s %s %s", legacy, dataDir()))
	exec.Command("sh", "-c", "ls "+constants.Root)
}
