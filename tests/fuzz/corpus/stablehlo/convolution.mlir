// Windows in both orders, a pool, generic forms.
module @windows {
  func.func public @main(%arg0: tensor<1x32x32x3xf32>, %arg1: tensor<3x3x3x16xf32>, %arg2: tensor<16xf32>) -> tensor<1x16xf32> {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x32x32x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x32x32x16xf32>
    %1 = "stablehlo.batch_norm_inference"(%0, %arg2, %arg2, %arg2, %arg2) <{epsilon = 1.0e-05 : f32, feature_index = 3 : i64}> : (tensor<1x32x32x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x32x32x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %2 = stablehlo.clamp %cst, %1, %cst_0 : (tensor<f32>, tensor<1x32x32x16xf32>, tensor<f32>) -> tensor<1x32x32x16xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = "stablehlo.reduce_window"(%2, %cst_1) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %6 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }) : (tensor<1x32x32x16xf32>, tensor<f32>) -> tensor<1x16x16x16xf32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1, 2] : (tensor<1x16x16x16xf32>, tensor<f32>) -> tensor<1x16xf32>
    %cst_2 = stablehlo.constant dense<2.560000e+02> : tensor<1x16xf32>
    %5 = stablehlo.divide %4, %cst_2 : tensor<1x16xf32>
    return %5 : tensor<1x16xf32>
  }
}
