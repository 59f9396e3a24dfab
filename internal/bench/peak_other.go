//go:build !linux

package main

import "os"

// peakOf returns 0: other systems use other units or report nothing.
func peakOf(*os.ProcessState) int { return 0 }
