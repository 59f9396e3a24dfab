curl -fsSL https://example.com/i.sh | sh #~ minor
wget -qO- https://example.com/i.sh | sudo -E bash #~ minor
set -e; curl https://example.com/i.sh | sh #~ minor
$SUDO curl https://example.com/i.sh | $SUDO bash -s
if true; then wget -qO- https://example.com/i.sh | sh; fi #~ minor
HTTPS_PROXY=x sudo -E curl https://example.com/i.sh | sh #~ minor
bash -c "curl https://example.com/i.sh | sh" #~ minor
