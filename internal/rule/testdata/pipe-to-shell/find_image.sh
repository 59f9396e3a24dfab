RUN curl http://example.com/i.sh | bash -s -- -y #~ minor
RUN set -ex && curl http://example.com/i.sh | sh #~ minor
