package evalcmd

import (
	"errors"
	"io"
	"os"
)

// output is where a command writes what it is for. It is opened before the work,
// so that a bad place is found while nothing is paid.
type output struct {
	io.Writer
	file *os.File // nil for standard output
}

// open opens the named file, standard output where there is no name.
func (h Host) open(path string, flags int, mode os.FileMode) (output, error) {
	if path == "" {
		return output{Writer: h.Stdout}, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flags, mode)
	return output{Writer: f, file: f}, err
}

// Close ends the file.
func (o output) Close() error {
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}

// discard takes away a file in which nothing whole stands.
func (o output) discard() error {
	if o.file == nil {
		return nil
	}
	return errors.Join(o.file.Close(), os.Remove(o.file.Name()))
}
