if options.cert:
    session.verify = options.cert
elif options.no_check_certificate:
    session.verify = False
