// Package process starts other programs, and ends them together with everything they started: programs called through
// npx, uvx or sh do their work in a child.
//
// A program gets its own process group, which no Ctrl-C reaches: the end of its context kills the group, and so does
// Cancel, even after Wait. If this process is killed outright, nothing reaches the group, and a program that does not
// read its standard input keeps running. On Windows only the program itself is killed.
package process
