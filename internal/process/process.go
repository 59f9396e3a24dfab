// Package process starts other programs, which end with all that they started themselves: what is called as npx, uvx or
// sh does its work in a child.
//
// A program is in a group of its own, which no Ctrl-C reaches: the end of its context kills the group, and so does
// Cancel, also after Wait. Where this process is killed outright nothing tells the group, and a program whose standard
// input it does not read goes on. On Windows the program alone is killed.
package process
