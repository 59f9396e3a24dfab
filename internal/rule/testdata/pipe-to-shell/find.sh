curl -fsSL http://example.com/i.sh | sh #~ minor
wget -qO- http://example.com/i.sh | sudo -E bash #~ minor
set -e; curl http://example.com/i.sh | sh #~ minor
$SUDO curl http://example.com/i.sh | $SUDO bash -s
if true; then wget -qO- http://example.com/i.sh | sh; fi #~ minor
HTTPS_PROXY=x sudo -E curl http://example.com/i.sh | sh #~ minor
bash -c "curl http://example.com/i.sh | sh" #~ minor
curl -fsSLk https://example.com/i.sh | sh #~ minor
wget --no-check-certificate -qO- https://example.com/i.sh | sh #~ minor
curl -fsSL "$1" | sh #~ minor
curl -fsSL "https://${MIRROR}/i.sh" | sh #~ minor
curl -fsSL get.example.com | sh #~ minor
