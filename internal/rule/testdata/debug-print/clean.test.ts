console.log("seen");
