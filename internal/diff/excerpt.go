package diff

// Excerpt shows the lines from first to last of a side, "LEFT" or "RIGHT", as the rows of
// their hunk: with them what the other side has in between, and around lines of that
// side before and behind. A stretch of the other side before or behind is cut at most
// rows in all. at and end are the rows of first and of last; without both in one hunk
// there are no rows.
func Excerpt(hunks []Hunk, side string, first, last, around, most int) (rows []Line, at, end int) {
	for _, h := range hunks {
		from := -1
		for i, l := range h.Lines {
			number := l.On(side)
			if number == first && number > 0 {
				from = i
			}
			if number == last && from >= 0 {
				return excerpt(h.Lines, side, from, i, around, most)
			}
		}
	}
	return nil, 0, 0
}

func excerpt(lines []Line, side string, from, to, around, most int) (rows []Line, at, end int) {
	start, stop := from, to+1
	for n := around; start > 0 && from-start < most && n > 0; start-- {
		if lines[start-1].On(side) > 0 {
			n--
		}
	}
	for n := around; stop < len(lines) && stop-to <= most && n > 0; stop++ {
		if lines[stop].On(side) > 0 {
			n--
		}
	}
	return lines[start:stop], from - start, to - start
}

// On is the line's number on a side, "LEFT" or "RIGHT", 0 where it does not stand on it.
func (l Line) On(side string) int {
	switch {
	case side == "LEFT" && l.Op != Add:
		return l.Old
	case side == "RIGHT" && l.Op != Delete:
		return l.New
	}
	return 0
}
