import{c as a,d as b}from"/console/assets/chunk-H4BHSBAS.js";import"/console/assets/chunk-3S5WJPIJ.js";import"/console/assets/chunk-CO4MVMCQ.js";export{b as read,a as signedBody};
