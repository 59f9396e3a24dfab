rm -rf "$OUT/"* #~ major
rm -r -f ${OUT}/ #~ major
rm -rf a $OUT/* #~ major
