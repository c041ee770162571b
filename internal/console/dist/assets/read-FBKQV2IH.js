import{c as a,d as b}from"/console/assets/chunk-FNI77AW7.js";import"/console/assets/chunk-3S5WJPIJ.js";import"/console/assets/chunk-SA2NDDCH.js";export{b as read,a as signedBody};
