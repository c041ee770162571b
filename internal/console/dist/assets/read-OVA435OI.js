import{c as a,d as b}from"/console/assets/chunk-WAUUGGN5.js";import"/console/assets/chunk-3S5WJPIJ.js";import"/console/assets/chunk-P5AKVRVK.js";export{b as read,a as signedBody};
