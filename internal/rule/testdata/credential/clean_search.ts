export default {
  algolia: {
    appId: "7H67QR5P0A",
    apiKey: "deaab78bc¦dfe96b599497d25acc6460e",
  },
};
