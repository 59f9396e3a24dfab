rm -rf "$OUT/"* #~ major
rm -r -f ${OUT}/ #~ major
rm -rf a $OUT/* #~ major
dir="$1"
rm -rf "$dir/"* #~ major
