document.getElementById("page").textContent = "";
