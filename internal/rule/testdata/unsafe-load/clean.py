a = yaml.safe_load(text)
b = yaml.load(text, Loader=yaml.SafeLoader)
c = pickle.load(cache_file)
