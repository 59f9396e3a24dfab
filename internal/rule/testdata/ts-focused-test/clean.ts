fit(data);
