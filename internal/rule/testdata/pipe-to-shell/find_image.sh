RUN curl https://example.com/i.sh | bash -s -- -y #~ minor
