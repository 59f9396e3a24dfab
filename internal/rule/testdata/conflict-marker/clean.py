SAMPLE = """
<<<<<<< HEAD
>>>>>>> feature
"""
x = 1 <<2
