print("here", x) #~ nit
print(f"{x=}") #~ nit
