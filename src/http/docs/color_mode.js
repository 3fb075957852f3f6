// Applies the colour mode that the reader chose on the reference page, before anything is painted.

const mode = sessionStorage.getItem("colorMode");
if (mode === "light" || mode === "dark") document.documentElement.style.colorScheme = mode;
