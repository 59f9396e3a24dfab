package app

// commands are all that there are, in the order in which help lists them.
func (a *app) commands() []command {
	all := []command{a.reviewCommand(), a.implementCommand(), a.resumeCommand(), a.showCommand(), a.threadsCommand(),
		a.statsCommand()}
	all = append(all, a.evalCommands()...)
	return append(all, a.indexCommand(), a.searchCommand(), a.contextCommand(), a.initCommand(), a.configCommand(),
		a.graphCommand(), a.completionCommand(a.commands), a.versionCommand())
}
