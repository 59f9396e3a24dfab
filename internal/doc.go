// Package internal holds the product's packages in layers, called floors. A package
// imports packages on floors below its own, and on its own floor only what floors_test.go
// lists; that test reads this map, walks the imports and fails with the offending
// line. Two spaces end a line's names; …/ is the folder of the name before.
//
//	6 front     app                        where the program begins: commands, their flags; drafts on GitHub
//	5 measure   eval                       changes whose defects are known, reviewed and scored
//	            eval/dataset …/score       case files; hits, losses, figures, reports
//	            …/judge …/oracle           who means the same defect; a scripted model
//	            …/history                  cases from merged pull requests
//	            evalcmd                    the eval commands: flags, files, what is printed
//	            searchcmd                  the search command, and how well it answers
//	            ask choose choose/quiet    what a person is asked at a terminal, and the list of findings
//	            local                      drafts at a terminal: reviews, changes for tickets, their decisions
//	            job                        a step of a workflow: drafts, revises, decides, marks
//	            driver                     a thread through the graph, for both; its report
//	            setup                      the init command: workflows, settings, environments of a repository
//	            configcmd                  the config command: a settings file checked, every setting shown
//	            settings wire              every input and flag, one row each; clients, reviewer, tools, stores
//	4 flows     flow/reviewpr              the graph that reviews a change: state and wiring
//	            flow/ticketpr              the graph that turns a ticket into a change, behind the same gate
//	3 steps     ingest recall triage       one step of a graph each: from what it needs
//	            review ticketcontext implement
//	            aggregate gate post apply  to what it found; steps import no step
//	2 engines   checkpoint render rule     what several steps use
//	            render/summary …/terminal  a review's pages: a job's summary, a terminal,
//	            …/proposal                 a ticket's change with its pull request
//	            handoff                    carries any flow's draft from one job to the next:
//	                                       names, resume checks, who may decide
//	            agent tool budget          a conversation, what it may look at, what it may cost
//	            linter                     what linters say of lines that a change adds
//	            scope                      where a proposed change may write
//	            suggest                    whether a suggestion is one to apply
//	            retrieve                   pieces of a repository that answer a query, or explain a change
//	            sarif stats                what was kept, for code scanning; what approvers did
//	            checkpoint/filestore …/pgstore …/artifactstore
//	1 machines  graph github llm prompt    one outside thing each, wrapped once
//	            config action transport
//	            embed                      remote models that embed texts and rank documents
//	            limit trace tree chunker
//	            index index/pgindex        chunks of a commit, found by words, names, vectors
//	            atlassian mcpclient        Jira and Confluence; servers of the Model Context Protocol
//	            process                    programs, which end with all that they started
//	            github/write artifact
//	0 nouns     pull diff finding          values and pure functions, no I/O
//	            decision cost guard
//	            secret injection linguist  what is redacted, what is flagged, what need not be reviewed
//	            lang column marker         what is known of languages; widths on a terminal;
//	                                       the comments by which a posted review is found
//	            change                     files as they are to be; a model's edits, applied
//	            chunk                      a piece of source text, and the tokens it is found by
//	            vector                     texts as vectors: which are near, how they are stored
//	            problem                    an error: what was wrong, where, what to do next
//	            pattern                    regular expressions compiled when they are first used; globs of paths
//	            order                      lists of large values, sorted, grouped, each once
//	            wording                    numbers, money and times, as all screens say them
//	            ticket atlassian/markup    what was asked for; texts of Jira and Confluence as Markdown
//	T tests     githubtest llmtest pgtest  fakes with state and a real server,
//	            githubtest/memgit          of the fake GitHub: commits,
//	            githubtest/runner          what a runner's jobs use: artifacts, cache,
//	            githubtest/fakehttp        requests, faults, GitHub's description;
//	            githubtest/demo            what scripts start and change
//	            storetest indextest        the stores' and the index's contract,
//	            handofftest crash          what the drafts of every flow have to pass, kills,
//	            embedtest                  a server of embeddings and reranking
//	            testvolume                 how many cases a test runs, and its CPU time: never in the binary
//	            githubtest/cmd/fakegithub  the fakes as programs
//	            llmtest/cmd/fakemodel
//	P program   bench                      figures; a separate program over the packages of the product
//
// A newcomer reads flow/reviewpr first: its wiring is the picture of the
// product. From there each step is one package away.
package internal
