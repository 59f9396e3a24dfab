a = yaml.load(text) #~ major
b = yaml.load(text, Loader=yaml.Loader) #~ major
c = pickle.loads(request.data) #~ major
