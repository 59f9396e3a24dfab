rm -rf "${OUT:?}/"*
rm -rf "$OUT"
rm -rf build/*
rm -f "$OUT/a"
# rm -rf "$OUT/"*
ca_dir=/data/ca
rm -rf $ca_dir/*
