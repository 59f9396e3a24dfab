package a

func f(r *http.Request, dir string) {
	exec.Command("sh", "-c", "ls "+dir)                //~ major
	exec.Command("bash", "-c", "ls "+r.FormValue("d")) //~ blocker
	line := fmt.Sprintf("ls %s", dir)
	exec.CommandContext(ctx, "/bin/sh", "-c", line) //~ major
}
