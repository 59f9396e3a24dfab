set -euo pipefail
rm -rf "$OUT/"*
