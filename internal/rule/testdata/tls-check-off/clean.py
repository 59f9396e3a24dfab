if options.cert:
    session.verify = options.cert
elif options.no_check_certificate:
    session.verify = False

if settings.get('insecure'):
    session.verify = False
elif settings['ca_bundle']:
    session.verify = settings['ca_bundle']
