package problem

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// whole is an error that knows what, where and next, such as a *decision.Error.
type whole interface {
	error
	Problem() *Error
}

// Of tells any error in its three parts: as the error itself does, or with its
// message for what was wrong and the Next of the first error behind it that has one.
func Of(err error) *Error {
	if own, ok := errors.AsType[whole](err); ok {
		return own.Problem()
	}
	what, where := err.Error(), ""
	var place interface{ Where() string }
	if errors.As(err, &place) {
		if rest, cut := strings.CutSuffix(what, ": "+place.Where()); cut {
			what, where = rest, place.Where()
		}
	}
	return made(KindOf(err), what, next(err), At(where))
}

// KindOf is the kind of an error: a failure where nobody said another.
func KindOf(err error) Kind {
	if m, ok := errors.AsType[marked](err); ok {
		return m.kind
	}
	if own, ok := errors.AsType[whole](err); ok {
		return own.Problem().Kind
	}
	return Failed
}

// Sentinel returns an error to compare with, which says what to do about it.
func Sentinel(what, next string) error { return &sentinel{what, next} }

type sentinel struct{ what, next string }

func (s *sentinel) Error() string { return s.what }

// Next is what to do about it.
func (s *sentinel) Next() string { return s.next }

// next is what to do about an error, or empty.
func next(err error) string {
	switch {
	case advice(err) != "":
		return advice(err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return "make room there, then run it again: what was finished is kept"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "check who may write there, or choose another folder with --store"
	case errors.Is(err, context.Canceled):
		return "run it again: what was finished is kept"
	}
	return ""
}

// advice is the Next of the first error of a tree that has any.
func advice(err error) string {
	if own, ok := err.(interface{ Next() string }); ok && own.Next() != "" {
		return own.Next()
	}
	switch x := err.(type) {
	case interface{ Unwrap() []error }:
		for _, e := range x.Unwrap() {
			if next := advice(e); next != "" {
				return next
			}
		}
	case interface{ Unwrap() error }:
		if behind := x.Unwrap(); behind != nil {
			return advice(behind)
		}
	}
	return ""
}
