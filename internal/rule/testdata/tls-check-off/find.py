requests.get(url, verify=False) #~ major
ctx = ssl._create_unverified_context() #~ major
