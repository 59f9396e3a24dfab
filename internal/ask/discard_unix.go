//go:build unix

package ask

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// quiet is for how long nothing may arrive, in milliseconds, until a paste has ended.
const quiet = 50

// discard drops the lines that wait to be read from a terminal, and reports whether there were any.
func discard(from io.Reader) (dropped bool) {
	f, ok := from.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return false
	}
	for lines := make([]byte, maxAnswer); ; {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}, quiet)
		if n > 0 {
			n, err = f.Read(lines)
		}
		if !errors.Is(err, unix.EINTR) && (n <= 0 || err != nil) {
			return dropped
		}
		dropped = dropped || n > 0
	}
}
