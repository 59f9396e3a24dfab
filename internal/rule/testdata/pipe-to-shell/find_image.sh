RUN curl https://example.com/i.sh | bash -s -- -y #~ minor
RUN set -ex && curl https://example.com/i.sh | sh #~ minor
